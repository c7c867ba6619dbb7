"""pe-spectra"""

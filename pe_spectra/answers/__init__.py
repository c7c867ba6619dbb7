"""What we say of each result: verdict, document, rows, facts, titles and the command to try next.

One module for each kind of answer. Nothing here computes a number, prints or draws.
"""

"""Context lengths: what each way to lengthen one would do, and which base suits one."""

"""What a running model turns and adds: taken from its modules by what they hold and give, without any framework."""

"""What a plan demands or an article claimed, compared with what was measured."""

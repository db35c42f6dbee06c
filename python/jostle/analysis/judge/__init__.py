"""What a plan demands or an article claimed, held against what was measured."""

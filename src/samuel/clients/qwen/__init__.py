"""Qwen Code, by Alibaba."""

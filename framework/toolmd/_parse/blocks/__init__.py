"""Markdown blocks: headings with their paragraphs, lists, tables and fences, and back to prose."""

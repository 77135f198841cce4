"""Python in the page: `plan` returns which cells of a chapter can run there; a `Session` runs them.

The build of the site asks `attn_course.in_page.plan`; the worker of a page holds an
`attn_course.in_page.session.Session`.
"""

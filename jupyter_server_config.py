# What JupyterLab does with the notebooks of this folder; it reads this file where it is started.
c = get_config()  # noqa: F821 - Jupyter gives it to this file
try:
    from attn_course._saved import without_views
except ImportError:
    print(
        "The course is not installed here (pip install -r requirements.txt): no cell of it will run."
    )
else:
    c.ContentsManager.pre_save_hook = without_views

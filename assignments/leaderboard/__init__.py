"""The table of the projects: what each translator handed in does on the test handed in with it.

=============  ===================================================================
`inside`       runs in the sandbox: loads the model, translates, measures
`score`        takes the files of a submission there, and brings the numbers back
`table`        the numbers of a class as Markdown and CSV
=============  ===================================================================
"""

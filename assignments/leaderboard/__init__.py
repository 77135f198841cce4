"""The table of the projects: the scores of each submitted translator on the test submitted with it.

=============  ===================================================================
`inside`       runs in the sandbox: loads the model, translates, measures
`score`        takes the files of a submission there, and brings the numbers back
`table`        the numbers of a class as Markdown and CSV
=============  ===================================================================
"""

"""What other libraries compute under the names of metrics: one module per library."""

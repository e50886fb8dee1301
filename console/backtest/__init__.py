"""`relight policy backtest`: the past under other policies."""

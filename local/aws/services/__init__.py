"""Parts of AWS that moto lacks or only pretends, driven by the fleet through the control endpoint."""

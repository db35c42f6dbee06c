module jostle/roster/go

go 1.25

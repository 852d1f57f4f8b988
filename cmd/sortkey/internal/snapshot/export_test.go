package snapshot

// ListenFor is Listen with another timeout for requests.
var ListenFor = listen

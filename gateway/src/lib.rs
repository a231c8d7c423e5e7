//! Takes the players' WebSockets and routes each lobby to the node that owns it.

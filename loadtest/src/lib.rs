//! Players by the thousand over real connections.

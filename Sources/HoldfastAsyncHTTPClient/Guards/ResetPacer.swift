/// Decides when streams may be reset.
///
/// A server may send frames on a stream until it has read the reset (RFC 9113 5.1), but NIOHTTP2 1.44 remembers only
/// the last 31 reset streams, and treats a frame on an earlier one as an error of the connection. So no more than that
/// are reset at a time. A server that answers a PING has read everything before it (RFC 9113 6.7).
struct ResetPacer {
    /// Maximum number of unconfirmed resets: fewer than NIOHTTP2 remembers, since it resets some itself.
    static let maximumUnconfirmed = 24
    /// Number of unconfirmed resets at which a confirmation is requested. Rare, because some servers limit PINGs.
    static let askedWith = 12

    /// The frames to send now.
    struct Step: Equatable {
        /// The number of waiting resets to send.
        var resets = 0
        /// Whether to request a confirmation from the server, after them.
        var asks = false
    }

    private var unconfirmed = 0
    /// The number of resets before the PING in flight; nil without one.
    private var asked: Int?
    private var waiting = 0

    /// Whether the server has not answered a PING.
    var isAsking: Bool { asked != nil }

    /// Adds a waiting reset.
    mutating func add() -> Step {
        waiting += 1
        return next()
    }

    /// Removes a waiting reset that is no longer needed, because the stream has ended.
    mutating func drop() { waiting -= 1 }

    /// The server has answered.
    mutating func confirm() -> Step {
        unconfirmed -= asked ?? 0
        asked = nil
        return next()
    }

    /// Gives up on an answer of the server: all resets are sent, at the risk of an error.
    mutating func giveUp() -> Step {
        (unconfirmed, asked) = (0, nil)
        defer { waiting = 0 }
        return Step(resets: waiting)
    }

    private mutating func next() -> Step {
        var step = Step(resets: min(waiting, Self.maximumUnconfirmed - unconfirmed))
        waiting -= step.resets
        unconfirmed += step.resets
        if asked == nil, unconfirmed >= Self.askedWith {
            asked = unconfirmed
            step.asks = true
        }
        return step
    }
}

import Foundation
import Holdfast

/// What is known about one host before its key or certificate is changed: its published pins, and what its servers
/// show.
struct RolloverState: Sendable, Equatable {
    /// A pin that clients accept now.
    struct PublishedPin: Sendable, Equatable {
        let pin: Pin
        /// Whether it will be removed: in a pin file because it is marked so, in a list because its certificate ends
        /// before those in use.
        var isRetiring = false
        /// Whether some server shows it in the place that its role requires.
        var isServed = false
    }

    /// Whether certificates are pinned. Each of them has to be replaced before it ends; a key may stay.
    var pinsCertificates = false
    /// The pins that are valid now.
    var pins: [PublishedPin]
    /// The servers that a client with these pins refuses, with the reason.
    var refusals: [String] = []
    /// What will be deployed next, if the operator has named it.
    var next: [Pin] = []
    /// The earliest end of the certificates that servers show as their own.
    var certificateEnd: Date?
    /// When the last pin of some server ends although its certificate is still valid.
    var pinsEnd: Date?
    /// When clients could first get the document.
    var published: Date
    /// The longest time, in seconds, for which a client may use an older document; nil if nobody knows.
    var staleness: TimeInterval?

    /// The time from which every client has the document.
    var everybodyHasIt: Date? { staleness.map { published.addingTimeInterval($0) } }
}

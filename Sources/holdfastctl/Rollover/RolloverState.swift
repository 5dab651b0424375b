import Foundation
import Holdfast

/// What is known of one host before its key or certificate is changed: its published pins, and what its servers show.
struct RolloverState: Sendable, Equatable {
    /// A pin that clients accept now.
    struct PublishedPin: Sendable, Equatable {
        let pin: Pin
        /// Whether it is meant to go: so marked in a pin file; in a list, of a certificate that ends before those in use.
        var isRetiring = false
        /// Whether some server shows it in the place that it is for.
        var isServed = false
    }

    /// Whether certificates are pinned, each of which has to be replaced before it ends; a key may stay.
    var pinsCertificates = false
    /// The pins that count now.
    var pins: [PublishedPin]
    /// The servers that a client with these pins refuses, with the reason.
    var refusals: [String] = []
    /// What is to be deployed next, where the operator says so.
    var next: [Pin] = []
    /// The first end of a certificate that a server shows as its own.
    var certificateEnd: Date?
    /// When the last pin of some server ends, while its certificate goes on.
    var pinsEnd: Date?
    /// When clients could first get the document.
    var published: Date
    /// The longest time, in seconds, for which a client goes on with an older document; nil where nobody knows.
    var staleness: TimeInterval?

    /// From when on every client has the document.
    var everybodyHasIt: Date? { staleness.map { published.addingTimeInterval($0) } }
}

import ArgumentParser
import HoldfastPublishing

/// The selection of certificates of a chain to pin.
enum PinSelection: String, CaseIterable, ExpressibleByArgument {
    case leaf, issuers, all

    func selects(_ entry: PinEntry) -> Bool {
        switch self {
        case .leaf: !entry.isIssuer
        case .issuers: entry.isIssuer
        case .all: true
        }
    }

    /// The pins that are selected.
    /// - Throws: if no pin is selected.
    func selected(from entries: [PinEntry]) throws(CommandFailure) -> [PinEntry] {
        let selected = entries.filter(selects)
        guard !selected.isEmpty else {
            throw CommandFailure(
                .notTrusted,
                "there is nothing to pin with --certificates \(rawValue)"
                    + (self == .leaf ? "; --certificates issuers pins an authority, and trusts all it issues" : ""))
        }
        return selected
    }
}

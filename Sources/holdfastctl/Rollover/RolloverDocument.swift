import Foundation
import Holdfast
import HoldfastSigning

/// The published pins in which a change of keys is prepared: a pin file, or a signed list.
struct RolloverDocument: Sendable {
    /// A host to ask, and the pins that clients have for it.
    struct Subject: Sendable {
        let host: DialledHost
        fileprivate let pins: Pins
    }

    fileprivate enum Pins: Sendable {
        /// The entry of one host, and the end of the whole file.
        case keys(PinFile.Host, until: Date?)
        case certificates([FingerprintEntry])
    }

    private enum Content {
        case file(PinFilePins)
        case list([FingerprintEntry])
    }

    private let content: Content
    /// When the document says that it was made.
    let issued: Date?
    /// For how many seconds clients may use an older document, according to the document or to what clients of its kind
    /// do; nil for a file that apps ship.
    let staleness: TimeInterval?

    /// Reads a pin file, or a list that is signed with a key.
    init(_ path: String, key: DocumentPublicKey?) throws(CommandFailure) {
        let data = try InputFile.content(of: path, maximumBytes: max(8 << 20, DocumentLimits().bytes + 1))
        guard let key else {
            let pins = PinFilePins(
                try PinFileReading.pinFile(
                    data, named: path, remedies: [.signedList: "give the signer's public key with --key"]))
            content = .file(pins)
            issued = pins.issued
            staleness = pins.staleness
            return
        }
        do throws(DocumentError) {
            content = .list(try FingerprintList(verifying: data, with: key).entries)
            issued = nil
            staleness = UpdateSchedule().periodicInterval.inSeconds
        } catch {
            throw CommandFailure(.invalidList, "\(path) does not verify: \(error)")
        }
    }

    /// Whether the document pins certificates: a list does, a pin file pins keys.
    var pinsCertificates: Bool { if case .list = content { true } else { false } }

    /// All hosts that can be asked, in the order of the document, and the patterns that cannot be dialled.
    func subjects(at time: Date) throws -> (hosts: [Subject], patterns: [String]) {
        let places: [PinFilePins.Place] =
            switch content {
            case .file(let pins): pins.places
            case .list(let entries): entries.map { .init(name: $0.name, port: nil) }
            }
        var hosts: [DialledHost] = []
        var patterns: [String] = []
        for place in places {
            guard let host = try? DialledHost(place.name, port: place.port ?? ServerAddress.defaultPort) else {
                if !patterns.contains(where: { $0.utf8.elementsEqual(place.name.utf8) }) { patterns.append(place.name) }
                continue
            }
            if !hosts.contains(host) { hosts.append(host) }
        }
        return (try hosts.map { try subject($0, at: time) }, patterns)
    }

    /// A host, with the pins that decide about it.
    /// - Throws: if there are none.
    func subject(_ host: DialledHost, at time: Date) throws(CommandFailure) -> Subject {
        switch content {
        case .file(let pins):
            guard let entry = pins.entry(of: host), !entry.isRetired,
                entry.ports.isEmpty || entry.ports.contains(host.port ?? ServerAddress.defaultPort)
            else {
                throw CommandFailure(.invalidList, "the pin file has no pins of \(host)")
            }
            return Subject(host: host, pins: .keys(entry, until: pins.documentEnd))
        case .list(let entries):
            let counting = entries.counting(for: host, at: time)
            guard counting.isEmpty else { return Subject(host: host, pins: .certificates(counting)) }
            // Clients know the host, but have no valid pin for it.
            if entries.contains(where: { ASCIIText.lowercased($0.name).elementsEqual(host.name.utf8) }) {
                return Subject(host: host, pins: .certificates([]))
            }
            throw CommandFailure(.invalidList, "the list has no entry of \(host) that counts")
        }
    }
}

extension RolloverDocument.Subject {
    /// The state of the host after its servers were asked.
    /// - Parameters:
    ///   - paths: the validated paths, one or more for each server.
    ///   - refusals: why chains that servers showed are not valid.
    ///   - next: what will be deployed, with key pins and certificate pins.
    func state(
        paths: [ValidatedPath], refusals: [String], next: [PinEntry], published: Date, staleness: TimeInterval?,
        at now: Date
    ) -> RolloverState {
        var state = RolloverState(pins: [], refusals: refusals, published: published, staleness: staleness)
        state.certificateEnd = paths.compactMap(\.leaf?.notAfter).min()
        switch pins {
        case .keys(let host, let end):
            let isOver = end.map { $0 <= now } ?? false
            let counting = isOver ? [] : PinFilePins.accepted(host.pins, at: now)
            let served = counting.map { pin in
                paths.contains { !PinFilePins.matched([pin], in: $0.certificates).isEmpty }
            }
            for (pin, isServed) in zip(counting, served) where !state.pins.contains(where: { $0.pin == pin.pin }) {
                state.pins.append(.init(pin: pin.pin, isRetiring: pin.state == .retiring, isServed: isServed))
            }
            state.next = next.compactMap { try? Pin($0.keyPin) }
            for path in paths {
                let matching = PinFilePins.matched(counting, in: path.certificates)
                let roles = Set(matching.map(\.role))
                let isEnough = host.requirement == .any ? !roles.isEmpty : roles.count == 2
                // A host in report mode lets clients in, and so does one whose pins have expired if its entry says so.
                let isLenient = host.mode == .report || counting.isEmpty && host.onExpiry == .systemTrust
                if !isEnough, !isLenient { state.refusals.append(Self.refusal(path)) }
                let sets =
                    host.requirement == .any ? [matching] : roles.map { role in matching.filter { $0.role == role } }
                for set in sets { state.note(set.map { Self.end($0, end) }) }
            }
        case .certificates(let entries):
            state.pinsCertificates = true
            let served = entries.filter { entry in paths.contains { Self.has($0, entry) } }
            let last = served.map(\.expires).max()
            for entry in entries where !state.pins.contains(where: { $0.pin == entry.pin }) {
                let isServed = served.contains { $0.pin == entry.pin }
                state.pins.append(
                    .init(
                        pin: entry.pin, isRetiring: !isServed && last.map { entry.expires < $0 } ?? false,
                        isServed: isServed))
            }
            state.next = next.compactMap { $0.certificatePin.flatMap { try? Pin($0) } }
            for path in paths {
                let matching = entries.filter { Self.has(path, $0) }
                if matching.isEmpty { state.refusals.append(Self.refusal(path)) }
                // An entry that ends together with its certificate does not matter here: it will be replaced with the
                // certificate.
                let leafEnd = path.leaf?.notAfter ?? .distantFuture
                state.note(matching.map { $0.expiryDate < leafEnd ? $0.expiryDate : nil })
            }
        }
        return state
    }

    private static func end(_ pin: PinFile.KeyPin, _ fileEnd: Date?) -> Date? {
        [pin.end, fileEnd].compactMap(\.self).min()
    }

    private static func has(_ path: ValidatedPath, _ entry: FingerprintEntry) -> Bool {
        entry.depth < path.certificates.count && path.certificates[entry.depth].certificatePin == entry.pin
    }

    private static func refusal(_ path: ValidatedPath) -> String {
        "no published pin is in the chain of \(path.leaf?.publicKeyPin.description ?? "a server without certificates")"
    }
}

extension RolloverState {
    /// Takes note of when a server loses its last pin, which is when all of its pins have ended. The first server
    /// counts.
    fileprivate mutating func note(_ ends: [Date?]) {
        guard !ends.isEmpty, !ends.contains(nil), let last = ends.compactMap(\.self).max() else { return }
        pinsEnd = pinsEnd.map { min($0, last) } ?? last
    }
}

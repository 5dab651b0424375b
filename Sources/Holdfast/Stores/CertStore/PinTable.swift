import struct Foundation.Date

/// The entries of a document by name: one probe of a hash table, some 80 bytes per entry including its name.
///
/// Names are compared as bytes, ignoring ASCII case. The entries of one name are adjacent, the latest expiry first.
package struct PinTable: Sendable {
    struct Entry: Sendable {
        let pin: Pin
        let depth: UInt8
        fileprivate let nameLength: UInt16
        fileprivate let nameStart: UInt32
        /// The first second at which it no longer counts, in Unix time.
        let end: Int64

        func isUsable(at time: Int64) -> Bool { time < end }

        /// The rule for a path that the entry makes.
        var rule: PinRule { PinRule(pin, at: .depth(Int(depth)), until: Date(wholeSeconds: end)) }
    }

    package static let empty = PinTable([])

    /// Sorted by name, and for one name by expiry, the latest first.
    let entries: [Entry]
    private let names: [UInt8]
    /// Open addressing, at most half full: the index of a name's first entry plus one, 0 for none.
    private let slots: [UInt32]
    /// The latest end of all; nil for an empty table.
    package let latestEnd: Int64?

    init(_ unsorted: [FingerprintEntry]) {
        // A position has 32 bits; the limits of documents are far below that.
        let folded = unsorted.prefix(Int(Int32.max)).map { (name: Self.folded($0.name), entry: $0) }
        let sorted = folded.sorted { left, right in
            left.name.hasSameOctets(as: right.name)
                ? left.entry.endSecond > right.entry.endSecond
                : left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        var entries: [Entry] = []
        var names: [UInt8] = []
        entries.reserveCapacity(sorted.count)
        var firsts: [(name: String, position: Int)] = []
        var literal: (text: String, start: Int)?
        for (position, (name, entry)) in sorted.enumerated() {
            if !(firsts.last.map { $0.name.hasSameOctets(as: name) } ?? false) { firsts.append((name, position)) }
            let start: Int
            if let literal, literal.text.hasSameOctets(as: entry.name) {
                start = literal.start
            } else {
                start = names.count
                names += Array(entry.name.utf8)
                literal = (entry.name, start)
            }
            entries.append(
                Entry(
                    pin: entry.pin, depth: UInt8(clamping: entry.depth),
                    nameLength: UInt16(clamping: entry.name.utf8.count),
                    nameStart: UInt32(clamping: start), end: entry.endSecond))
        }
        var capacity = 1
        while capacity < firsts.count * 2 { capacity *= 2 }
        var slots = [UInt32](repeating: 0, count: capacity)
        for (name, position) in firsts {
            var slot = Self.hash(name) & (capacity - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (capacity - 1) }
            slots[slot] = UInt32(position + 1)
        }
        self.entries = entries
        self.names = names
        self.slots = slots
        latestEnd = entries.lazy.map(\.end).max()
    }

    var count: Int { entries.count }

    /// Bytes that the table uses, for measurements.
    var byteCount: Int {
        entries.capacity * MemoryLayout<Entry>.stride + names.capacity + slots.capacity * MemoryLayout<UInt32>.stride
    }

    /// Whether any entry is usable at a time.
    func hasUsableEntries(at time: Int64) -> Bool { latestEnd.map { time < $0 } ?? false }

    /// The entries of a name, whatever its case, the latest expiry first.
    func entries(named name: String) -> ArraySlice<Entry> {
        let name = Self.folded(name)
        let mask = slots.count - 1
        var slot = Self.hash(name) & mask
        while slots[slot] != 0 {
            let first = Int(slots[slot]) - 1
            if isName(of: entries[first], equalTo: name) { return entries[first..<end(of: first, name)] }
            slot = (slot + 1) & mask
        }
        return []
    }

    /// Whether an entry's name is this text, byte by byte.
    func isLiteralName(_ entry: Entry, _ name: String) -> Bool { octets(of: entry).elementsEqual(name.utf8) }

    /// The name of an entry as it was signed.
    func name(of entry: Entry) -> String { String(decoding: octets(of: entry), as: UTF8.self) }

    /// The time at which the first name loses its last pin: the earliest future value among the latest ends of all
    /// names.
    func soonestEnd(at time: Int64) -> Int64? {
        var soonest: Int64?
        forEachName { _, latest in
            if latest.isUsable(at: time) { soonest = min(soonest ?? latest.end, latest.end) }
            return true
        }
        return soonest
    }

    /// Returns a name that has usable entries here and none in the other table.
    func nameLost(in new: PinTable, at time: Int64) -> String? {
        var lost: String?
        forEachName { name, latest in
            guard latest.isUsable(at: time), new.entries(named: name).first?.isUsable(at: time) != true else {
                return true
            }
            lost = name
            return false
        }
        return lost
    }

    private func forEachName(_ body: (_ name: String, _ latest: Entry) -> Bool) {
        var first = 0
        while first < entries.count {
            let name = Self.folded(name(of: entries[first]))
            guard body(name, entries[first]) else { return }
            first = end(of: first, name)
        }
    }

    private func end(of first: Int, _ name: String) -> Int {
        var end = first + 1
        while end < entries.count, isName(of: entries[end], equalTo: name) { end += 1 }
        return end
    }

    private func isName(of entry: Entry, equalTo folded: String) -> Bool {
        Int(entry.nameLength) == folded.utf8.count
            && octets(of: entry).lazy.map(DNSOctets.lowercase).elementsEqual(folded.utf8)
    }

    private func octets(of entry: Entry) -> ArraySlice<UInt8> {
        let start = Int(entry.nameStart)
        return names[start..<(start + Int(entry.nameLength))]
    }

    private static func folded(_ name: String) -> String {
        guard name.utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else { return name }
        return String(decoding: name.utf8.map(DNSOctets.lowercase), as: UTF8.self)
    }

    private static func hash(_ name: String) -> Int {
        var hasher = Hasher()
        for octet in name.utf8 { hasher.combine(octet) }
        return hasher.finalize()
    }
}

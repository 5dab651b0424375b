import Holdfast
package import ServerFoundation

/// Decides which observations of a host are kept, among those with one standing.
///
/// Hosts choose what they present at each address, and a vantage chooses how many addresses it names, so each vantage
/// and each address has a share: the newest row of every address comes first, and every vantage has its first row
/// before any has its second. New rows of a vantage or address displace its own older rows before those of others.
package struct ObservationBounds {
    /// A row of the table.
    package struct Row {
        package let id: Int64
        package let vantage: String
        package let address: String
        /// The digest of its chain and the size in bytes; nil if it has no chain.
        package let chain: (digest: Digest, size: Int)?

        package init(id: Int64, vantage: String, address: String, chain: (digest: Digest, size: Int)?) {
            self.id = id
            self.vantage = vantage
            self.address = address
            self.chain = chain
        }
    }

    /// The rows to delete.
    package private(set) var deleted: [Int64] = []
    /// The rows that stay without their chain; otherwise an older row of the address would look like the newest.
    package private(set) var forgotten: [Int64] = []
    /// The chains that rows keep.
    package private(set) var chains: Set<Digest> = []
    /// The chains that rows lose; another row may keep them.
    package private(set) var lost: Set<Digest> = []

    /// - Parameters:
    ///   - rows: the rows, the newest first.
    ///   - maximumRows: the maximum number of rows.
    ///   - maximumBytes: the maximum total size of their chains, each counted once.
    package init(_ rows: [Row], maximumRows: Int, maximumBytes: Int) {
        var bytes = 0
        for (index, row) in Self.ordered(rows).enumerated() {
            guard index < maximumRows else {
                deleted.append(row.id)
                if let chain = row.chain { lost.insert(chain.digest) }
                continue
            }
            guard let chain = row.chain, !chains.contains(chain.digest) else { continue }
            guard bytes + chain.size <= maximumBytes else {
                forgotten.append(row.id)
                lost.insert(chain.digest)
                continue
            }
            chains.insert(chain.digest)
            bytes += chain.size
        }
    }

    /// The rows by priority.
    private static func ordered(_ rows: [Row]) -> [Row] {
        var counts: [[String]: Int] = [:]
        let places = rows.map { row in
            let rank = counts[[row.vantage, row.address], default: 0]
            counts[[row.vantage, row.address]] = rank + 1
            return rank
        }
        // The newest row of each address, then the second of each, each time in the given order.
        let byPlace = rows.indices.sorted { (places[$0], $0) < (places[$1], $1) }
        var vantages: [String: Int] = [:]
        var order: [(rank: Int, place: Int, row: Row)] = []
        for (place, index) in byPlace.enumerated() {
            let rank = vantages[rows[index].vantage, default: 0]
            vantages[rows[index].vantage] = rank + 1
            order.append((rank, place, rows[index]))
        }
        return order.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }.map(\.row)
    }
}

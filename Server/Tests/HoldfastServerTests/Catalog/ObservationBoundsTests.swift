import Holdfast
import Testing

@testable import ServerFoundation
@testable import ServerModel

@Suite("Which observations of a host are kept")
struct ObservationBoundsTests {
    private func digest(_ number: Int) -> ServerFoundation.Digest { Digest(of: Array("chain \(number)".utf8)) }

    private func row(
        _ id: Int64, _ vantage: String, _ address: String, chain: Int? = nil, size: Int = 100
    ) -> ObservationBounds.Row {
        ObservationBounds.Row(
            id: id, vantage: vantage, address: address, chain: chain.map { (digest: digest($0), size: size) })
    }

    @Test("Each vantage has its share of the rows, and of each address the newest row stays first")
    func rows() {
        // The newest first: what a loud vantage saw at ever new addresses, then what a quiet one saw at three.
        let loud = (0..<500).map { row(Int64($0), "loud", "a\($0)") }
        let quiet = [row(600, "quiet", "a"), row(601, "quiet", "a"), row(602, "quiet", "b"), row(603, "quiet", "c")]
        let bounds = ObservationBounds(loud + quiet, maximumRows: 7, maximumBytes: 1_000)
        let kept = Set((loud + quiet).map(\.id)).subtracting(bounds.deleted)
        #expect(kept == [0, 1, 2, 3, 600, 602, 603])
        #expect(bounds.forgotten == [] && bounds.chains == [] && bounds.lost == [])
    }

    @Test("A chain beyond the bytes is forgotten while its row stays, and one that many rows have counts once")
    func bytes() {
        let rows = [
            row(1, "here", "a", chain: 1, size: 600), row(2, "here", "b", chain: 1, size: 600),
            row(3, "here", "c", chain: 2, size: 600), row(4, "here", "d", chain: 3, size: 400), row(5, "here", "e"),
        ]
        let bounds = ObservationBounds(rows, maximumRows: 5, maximumBytes: 1_000)
        #expect(bounds.forgotten == [3] && bounds.deleted == [])
        #expect(bounds.chains == [digest(1), digest(3)] && bounds.lost == [digest(2)])
        // Of a row that goes the chain is lost, although another may keep it.
        let fewer = ObservationBounds(rows, maximumRows: 1, maximumBytes: 1_000)
        #expect(fewer.deleted == [2, 3, 4, 5] && fewer.chains == [digest(1)])
        #expect(fewer.lost == [digest(1), digest(2), digest(3)])
    }
}

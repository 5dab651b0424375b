/// Works on a limited number of items at the same time.
package enum SideBySide {
    /// The results, in the order of the items.
    package static func map<Item: Sendable, Result: Sendable>(
        _ items: [Item], atMost limit: Int, _ work: @escaping @Sendable (Item) async -> Result
    ) async -> [Result] {
        var results: [Result?] = items.map { _ in nil }
        await withTaskGroup(of: (Int, Result).self) { group in
            var waiting = items.enumerated().makeIterator()
            func startNext() {
                guard let (index, item) = waiting.next() else { return }
                group.addTask { (index, await work(item)) }
            }
            for _ in 0..<max(1, limit) { startNext() }
            for await (index, result) in group {
                results[index] = result
                startNext()
            }
        }
        return results.compactMap(\.self)
    }
}

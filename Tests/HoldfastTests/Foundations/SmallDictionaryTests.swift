import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("A dictionary that begins as a list")
struct SmallDictionaryTests {
    @Test("has the same values as a dictionary, whatever is set and removed", arguments: 0..<40)
    func likeADictionary(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var small = SmallDictionary<Int, Int>()
        var dictionary: [Int: Int] = [:]
        for _ in 0..<60 {
            // Few keys in some runs, so that the list is never left.
            let key = Int.random(in: 0...(seed % 10), using: &random)
            let value = Int.random(in: 0...3, using: &random)
            small[key] = value == 0 ? nil : value
            dictionary[key] = value == 0 ? nil : value
            #expect((0...10).map { small[$0] } == (0...10).map { dictionary[$0] })
            #expect(small.elements.map(\.key).sorted() == dictionary.keys.sorted())
            #expect(small.elements.allSatisfy { dictionary[$0.key] == $0.value })
        }
    }

    @Test("compares keys while they are few, and hashes each of them when they are more")
    func hashing() {
        let counter = Counter()
        var small = SmallDictionary<CountedKey, Int>()
        for number in 0..<SmallDictionary<CountedKey, Int>.mostCompared {
            small[CountedKey(number: number, counter: counter)] = number
        }
        #expect(counter.hashed == 0)
        #expect(small[CountedKey(number: 3, counter: counter)] == 3)
        #expect(counter.hashed == 0)
        for number in 4..<100 { small[CountedKey(number: number, counter: counter)] = number }
        let before = counter.compared
        #expect(small[CountedKey(number: 99, counter: counter)] == 99)
        #expect(counter.compared - before < 10)
        #expect((0..<100).allSatisfy { small[CountedKey(number: $0, counter: counter)] == $0 })
    }

    private final class Counter {
        var hashed = 0
        var compared = 0
    }

    private struct CountedKey: Hashable {
        let number: Int
        let counter: Counter

        static func == (left: CountedKey, right: CountedKey) -> Bool {
            left.counter.compared += 1
            return left.number == right.number
        }

        func hash(into hasher: inout Hasher) {
            counter.hashed += 1
            hasher.combine(number)
        }
    }
}

/// A dictionary that begins as a list: comparing a key with a few others costs less than hashing it.
///
/// From the fifth key on, keys are hashed, so an attacker's many similar keys cost no more than in a dictionary.
struct SmallDictionary<Key: Hashable, Value> {
    private var few: [(key: Key, value: Value)] = []
    private var many: [Key: Value] = [:]

    static var mostCompared: Int { 4 }

    /// Every key with its value, in no particular order.
    var elements: [(key: Key, value: Value)] { few + many.map { ($0.key, $0.value) } }

    /// The value of a key; nil if the key has no value. Assigning nil removes the value.
    subscript(key: Key) -> Value? {
        get { many.isEmpty ? place(of: key).map { few[$0].value } : many[key] }
        set {
            guard many.isEmpty else {
                many[key] = newValue
                return
            }
            switch (place(of: key), newValue) {
            case (let place?, let value?): few[place].value = value
            case (let place?, nil): few.remove(at: place)
            case (nil, let value?) where few.count < Self.mostCompared:
                if few.isEmpty { few.reserveCapacity(Self.mostCompared) }
                few.append((key, value))
            case (nil, let value?):
                for one in few { many[one.key] = one.value }
                few = []
                many[key] = value
            case (nil, nil): break
            }
        }
    }

    private func place(of key: Key) -> Int? { few.indices.first { few[$0].key == key } }
}

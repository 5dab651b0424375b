extension RawRepresentable where RawValue == String, Self: CaseIterable {
    /// The case whose name has exactly these bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard let found = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(bytes) }) else { return nil }
        self = found
    }
}

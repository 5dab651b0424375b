extension TrustServerStore {
    /// Whether ``prepare()`` would wait: there is no usable document and no attempt failed a moment ago, or the one that
    /// is there is past its time and none failed since, or a mismatch asked for a newer one.
    public var needsPreparation: Bool { documents.needsPreparation }

    /// Waits, for at most ``OnlinePinningSettings/preparationTimeout``, for a document to judge by.
    ///
    /// With a fresh one it returns at once. Otherwise there is one download, shared by all who wait; it goes on when
    /// their time is up. A document in its grace is good enough when the download fails, and is not waited for again
    /// until one succeeds. Right after a failure nothing is downloaded.
    /// - Throws: ``StoreError`` when there is no usable document; `CancellationError` when the task is cancelled.
    public func prepare() async throws {
        try await documents.prepare(within: configuration.settings.preparationTimeout, from: "trust server")
    }
}

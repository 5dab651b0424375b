extension TrustServerStore {
    /// Whether ``prepare()`` would wait: there is no usable document and no attempt has just failed, or the document is
    /// no longer fresh and no attempt has failed since, or a mismatch asked for a newer one.
    public var needsPreparation: Bool { documents.needsPreparation }

    /// Waits, for at most ``OnlinePinningSettings/preparationTimeout``, for a document to decide by.
    ///
    /// With a fresh document it returns at once. Otherwise all callers share one download, which continues after they
    /// stop waiting. If the download fails, a document in its grace period is good enough, and nobody waits again until
    /// a download succeeds. Right after a failure nothing is downloaded.
    /// - Throws: ``StoreError`` when there is no usable document; `CancellationError` when the task is cancelled.
    public func prepare() async throws {
        try await documents.prepare(within: configuration.settings.preparationTimeout, from: "trust server")
    }
}

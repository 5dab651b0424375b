extension CertStore {
    /// Brings the store up to date.
    ///
    /// With nothing usable in the store, or when forced, it returns after the download. When a renewal is due and
    /// the pins still count it returns at once, and the download goes on behind it; ``lastUpdate`` and ``events()`` say
    /// what came of it. Otherwise it does nothing. Calls at the same time share one download. Cancelling the caller
    /// does not cancel the download, which others may share.
    /// - Returns: the result, or that the update continues.
    /// - Throws: ``StoreError`` when no stored document has usable pins afterwards, or a forced update failed.
    ///   Fallback entries go on to count meanwhile, if there are any and nothing is stored.
    @discardableResult
    public func update(mode: StoreUpdateMode = .default) async throws(StoreError) -> StoreUpdateReport {
        if let configurationError { throw configurationError }
        return try await documents.update(mode: mode)
    }

    /// Forgets everything that was stored; fallback entries count again.
    ///
    /// It blocks on storage. An update that is under way ends with `reset` and stores nothing.
    public func reset() { documents.reset() }

    /// Keeps the store up to date until the task is cancelled, or until the group of services that runs the store is shut
    /// down. With the package's trait `ServiceLifecycle` a store is a `Service`.
    ///
    /// It looks at the clock at least every 15 minutes, so that a clock that was set, or a device that slept, delays
    /// nothing for longer.
    /// - Throws: ``StoreError`` `invalidConfiguration`, at once.
    public func run() async throws {
        try await untilShutdown { try await self.run(sleepingOn: ContinuousClock()) }
    }

    /// Keeps the store up to date until the task is cancelled, sleeping on the caller's clock.
    /// - Throws: ``StoreError`` `invalidConfiguration`, at once.
    public func run(sleepingOn sleeper: some Clock<Duration>) async throws {
        if let configurationError { throw configurationError }
        await documents.run(sleepingOn: sleeper)
    }
}

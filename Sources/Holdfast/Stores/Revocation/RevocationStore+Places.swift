import Foundation
import Logging

// Finds the places of lists: distribution points of certificates that can be trusted to that extent.
extension RevocationStore {
    /// The maximum number of certificates whose distribution points are remembered as read; others are read again.
    static let maximumLinks = 4_096
    /// The maximum number of URLs of one certificate that are fetched. Authorities write one to three; more would take
    /// memory from others.
    private static let maximumAddresses = 4
    /// A new place, with the authority whose lists it offers.
    typealias Found = (url: URL, authority: X509Certificate)

    /// Starts fetching, in the background, lists that are due and the distribution points of the paths' certificates;
    /// see ``RevocationSource/noteUse(following:)``.
    public func noteUse(following paths: [[X509Certificate]]) {
        let now = clock.now
        let isDue = known.withLock { state in
            let isDue = now >= state.nextLook || state.nextLook.timeIntervalSince(now) > Self.lookInterval
            if isDue { state.nextLook = now.addingTimeInterval(Self.lookInterval) }
            return isDue
        }
        read(configuration.fetchesNamedPlaces ? paths : [], at: now, isLookDue: isDue)
    }

    /// Starts fetching the distribution points of the application's own certificates, such as those of servers that it
    /// knows beforehand, whether or not ``RevocationConfiguration/followsDistributionPoints`` is set.
    ///
    /// Nothing is verified: the issuers of these certificates decide which places are fetched.
    /// - Parameter chain: leaf first, each followed by its issuer, the anchor last.
    public func follow(_ chain: [X509Certificate]) { read([chain], at: clock.now, isLookDue: false) }

    private func read(_ paths: [[X509Certificate]], at now: Date, isLookDue: Bool) {
        var isLookDue = isLookDue
        var found: [Found] = []
        for path in paths {
            guard let anchor = path.last else { continue }
            for (certificate, issuer) in zip(path, path.dropFirst()) {
                let link = Link(certificate: certificate, issuer: issuer, anchor: anchor)
                guard !isKnown(link, at: now) else { continue }
                if take(link, at: now, found: &found) { isLookDue = true }
            }
        }
        // Storage, downloads and observers must not block the thread of a handshake.
        guard isLookDue else { return }
        Task.detached { [weak self, found] in
            for (url, authority) in found { self?.noteFound(url, authority) }
            await self?.updateWhatIsDue()
        }
    }

    private func noteFound(_ url: URL, _ authority: X509Certificate) {
        logger.debug("a certificate names a place of revocation lists", metadata: ["url": "\(url.quotedAddress)"])
        tell(.placeFound, of: url, authority)
    }

    private func isKnown(_ link: Link, at now: Date) -> Bool {
        known.withLock { state in
            guard let index = state.links.index(forKey: link) else { return false }
            state.links.values[index].lastSeen = now
            for key in state.links.values[index].places {
                state.places[key]?.lastSeen = now
                state.places[key]?.isRestored = false
            }
            return true
        }
    }

    /// Reads the distribution points of a certificate.
    /// - Parameters:
    ///   - time: when a path contained it.
    ///   - isRestored: whether an earlier run saw it.
    ///   - found: gets the new places.
    func take(_ link: Link, at time: Date, isRestored: Bool = false, found: inout [Found]) -> Bool {
        var work = 0
        let names = CertificateDistributionPoints(of: link.certificate, work: &work).names
        let isAuthority = (try? link.certificate.basicConstraints)?.isCertificateAuthority ?? false
        let authority = RevocationAuthority(
            issuer: link.issuer, anchor: link.anchor,
            certificates: NamingCertificates(isAuthority: isAuthority, pointNames: names))
        let places = CertificateDistributionPoints.addresses(of: link.certificate).prefix(Self.maximumAddresses)
            .compactMap(RevocationPlace.key(of:)).map { (RevocationPlace.Key($0.key, of: link.issuer), $0.url) }
        var isNew = false
        for (key, url) in places
        where add(key, url, authority, at: time, isRestored: isRestored, found: &found) { isNew = true }
        let keys = places.map(\.0)
        known.withLock { state in
            // If the limit was reached, the certificate is read again later.
            guard keys.allSatisfy({ state.places[$0] != nil }) else { return }
            if state.links.count >= Self.maximumLinks {
                let needed = Self.needed(of: state.links)
                state.links =
                    needed.count < Self.maximumLinks / 2 ? Dictionary(uniqueKeysWithValues: needed) : [:]
            }
            state.links[link] = Naming(places: keys, lastSeen: time)
            if isNew { state.lastKept = .distantPast }
        }
        return isNew
    }

    /// - Returns: whether the place is new, or may have the lists of one more authority.
    private func add(
        _ key: RevocationPlace.Key, _ url: URL, _ authority: RevocationAuthority, at now: Date, isRestored: Bool,
        found: inout [Found]
    ) -> Bool {
        enum Outcome {
            case known(Bool), added(evicted: RevocationPlace?), full(isFirst: Bool)
        }
        let outcome = known.withLock { state -> Outcome in
            if let place = state.places[key] {
                if !isRestored {
                    state.places[key]?.lastSeen = now
                    state.places[key]?.isRestored = false
                }
                return .known(place.authorities.add(authority))
            }
            var evicted: RevocationPlace?
            if state.places.count >= configuration.maximumLists {
                evicted = state.removeUnseen(at: now)
                guard evicted != nil else { return .full(isFirst: state.hasSaidFull.setFirst()) }
            }
            state.places[key] = RevocationPlace(
                url: url, isConfigured: false, authorities: RevocationAuthorities(authority), lastSeen: now,
                isRestored: isRestored)
            return .added(evicted: evicted)
        }
        switch outcome {
        case .known(let isMore): return isMore
        case .added(let evicted):
            if let documents = evicted?.documents {
                documents.format.room?.giveBack()
                Task.detached { documents.discard() }
            }
            found.append((url, authority.issuer))
            return true
        case .full(let isFirst):
            if isFirst {
                logger.warning(
                    "no more revocation lists are fetched",
                    metadata: ["maximumLists": "\(configuration.maximumLists)", "url": "\(url.quotedAddress)"])
            }
            return false
        }
    }
}

extension RevocationStore.Known {
    /// The time for which a place that no path names anymore is kept, in seconds, if others need its memory.
    private static let keepsUnseen: TimeInterval = 24 * 3_600

    /// Removes the place that no path has named for the longest time, if that time exceeds the limit.
    mutating func removeUnseen(at now: Date) -> RevocationPlace? {
        let oldest = places.filter { !$0.value.isConfigured }.min { $0.value.lastSeen < $1.value.lastSeen }
        guard let oldest, now.timeIntervalSince(oldest.value.lastSeen) > Self.keepsUnseen else { return nil }
        links = links.filter { !$0.value.places.contains(oldest.key) }
        return places.removeValue(forKey: oldest.key)
    }
}

package import struct Foundation.Date

extension PinFile {
    /// A key that a host may have, and its role.
    package struct KeyPin: Sendable, Hashable {
        /// The certificate of a path that must have the key.
        package enum Role: String, Sendable, Hashable, CaseIterable {
            /// The server's own.
            case leaf
            /// Any above it. Whether that is an intermediate or the root depends on the device.
            case issuer
        }

        /// The key's current state, for people and reports. Only `candidate` affects decisions.
        package enum State: String, Sendable, Hashable, CaseIterable {
            /// In use.
            case active
            /// A backup, in no chain that is served.
            case backup
            /// Being withdrawn.
            case retiring
            /// On trial: whether it matches is reported, and it is never accepted.
            case candidate
        }

        /// The pin, of a key.
        package let pin: Pin
        /// The certificate of a path that must have the key.
        package let role: Role
        /// What the key is at the moment.
        package let state: State
        /// The last second for which the pin counts; nil for as long as the file.
        package let notAfter: Date?

        /// Makes a pin; a time includes its whole second.
        /// - Throws: ``PinFileError`` `invalidPin` for the pin of a certificate, `invalidTime`.
        package init(
            _ pin: Pin, role: Role = .leaf, state: State = .active, notAfter: Date? = nil
        ) throws(PinFileError) {
            guard pin.subject == .publicKey else { throw Self.certificatePin }
            let end = try notAfter.map { date throws(PinFileError) in
                try PinFileTime.seconds(of: date, field: "notAfter")
            }
            self.pin = pin
            self.role = role
            self.state = state
            self.notAfter = end.map(Date.init(wholeSeconds:))
        }

        /// The first instant at which it no longer counts, apart from the file's own end.
        package var end: Date? { notAfter.map { Date(end: $0.wholeSeconds + 1) } }

        /// What may occur only once in a host.
        struct Identity: Hashable {
            let pin: Pin
            let role: Role
        }

        var identity: Identity { Identity(pin: pin, role: role) }

        private static var certificatePin: PinFileError {
            PinFileError(
                .invalidPin, at: "pin", expected: "the pin of a key, sha256/BASE64", found: "the pin of a certificate",
                remedy: "Pin the certificate's key, which survives its renewal: `holdfastctl pin FILE` prints it.")
        }
    }
}

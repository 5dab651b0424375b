public import Security

public enum NWProtocolTLS {
    public final class Options {
        public let securityProtocolOptions: sec_protocol_options_t
        public init() { securityProtocolOptions = StandInOptions() }
    }
}

public enum NWProtocolTCP {
    public final class Options {
        public init() {}
    }
}

public final class NWParameters {
    /// What the tests look at.
    public let tls: NWProtocolTLS.Options?

    public init(tls: NWProtocolTLS.Options?, tcp: NWProtocolTCP.Options = .init()) { self.tls = tls }
}

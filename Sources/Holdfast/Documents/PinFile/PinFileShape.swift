/// The objects of a pin file, and the fields that this version knows in each (docs/formats.md).
package enum PinFileShape: CaseIterable {
    case file, refresh, host, pin, report

    /// The fields of an object. A field with an object, or a list of objects, has the shape of these as its value.
    package var fields: [String: PinFileShape?] {
        switch self {
        case .file:
            [
                "schema": nil, "app": nil, "issuedAt": nil, "notAfter": nil, "refresh": .refresh, "hosts": .host,
                "debugAnchors": nil, "critical": nil,
            ]
        case .refresh: ["after": nil, "jitter": nil, "grace": nil]
        case .host:
            [
                "host": nil, "includeSubdomains": nil, "ports": nil, "mode": nil, "require": nil, "onExpiry": nil,
                "pins": .pin, "report": .report, "retired": nil,
            ]
        case .pin: ["pin": nil, "role": nil, "state": nil, "notAfter": nil]
        case .report: ["url": nil, "failureFraction": nil, "successFraction": nil]
        }
    }
}

import HoldfastOutput
import HoldfastPublishing

extension CertificateReport {
    /// Maximum number of printed names; the rest are only counted.
    private static let shownNames = 12

    func print(to output: Output) {
        let place = position.map { "\($0)" } ?? "-"
        var remark = ""
        if position == nil {
            remark = "  (anchor, not sent)"
        } else if inValidPath == false {
            remark = "  (not in the valid path)"
        }
        output.line(
            .init("  \(place.padded(to: 3))"), .init(subject ?? "unreadable", .heading), .init(remark, .faint))
        func field(_ name: String, _ value: String, _ style: Output.Style = .plain) {
            output.line(.init("     \(name.padded(to: 11))", .faint), .init(value, style))
        }
        if let unreadable { field("error", unreadable, .bad) }
        if let issuer { field("issuer", issuer) }
        if let notBefore, let notAfter, let daysLeft {
            let state = isNotYetValid == true ? "NOT YET VALID" : DaysLeft.text(daysLeft)
            let isBad = daysLeft < 0 || isNotYetValid == true
            field(
                "valid", "\(LocalTime.text(ofField: notBefore)) to \(LocalTime.text(ofField: notAfter)), \(state)",
                isBad ? .bad : .plain)
        }
        if let serial { field("serial", serial) }
        if let key { field("key", key) }
        if let signature { field("signature", signature) }
        if let names, !names.isEmpty {
            let shown = names.prefix(Self.shownNames).joined(separator: ", ")
            let rest = names.count - Self.shownNames
            field("names", rest > 0 ? "\(shown) and \(rest) more" : shown)
        }
        if let keyPin { field("key pin", keyPin) }
        field("cert pin", certificatePin ?? "none: a Merkle Tree Certificate has several forms; pin its key")
    }
}

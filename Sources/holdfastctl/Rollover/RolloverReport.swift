import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// The next step for one host, for people. Its fields are those of the JSON object.
struct RolloverReport: Encodable {
    enum Kind: String, Encodable {
        case letClientsIn, publishNext, addBackup, renew, wait, deploy, remove, nothing
        /// Not every server could be asked; `error` says why.
        case unknown
    }

    let host: String
    let port: Int
    var step = Kind.unknown
    /// When, or by when, in ISO 8601; absent if it is now or unknown.
    var date: String?
    /// Why this is the next step.
    var why: String?
    /// What to type, or what to do.
    var action: String?
    /// The pins that the step is about.
    var pins: [String]?
    var error: String?

    private var title = "could not find out"

    private enum CodingKeys: CodingKey {
        case host, port, step, date, why, action, pins, error
    }

    /// Makes the report on a host that could not be asked.
    init(host: DialedHost, error: String) {
        self.init(host: host)
        self.error = error
    }

    private init(host: DialedHost) {
        self.host = host.name
        port = host.port ?? ServerAddress.defaultPort
    }

    /// - Parameter document: the document's name as it was given.
    init(_ step: RolloverStep, _ state: RolloverState, host: DialedHost, document: String) {
        self.init(host: host)
        let file = ForeignFile.quoted(document)
        let (thing, name) = (state.pinsCertificates ? "certificate" : "key", host.name)
        let span = state.staleness.map { Self.days($0) } ?? "an unknown time"
        switch step {
        case .letClientsIn:
            (self.step, title) = (.letClientsIn, "let clients in, now")
            why = state.refusals.joined(separator: "; ")
            action = "deploy a \(thing) that is published, or publish the one that is served"
        case .publishNext(let pins):
            (self.step, title) = (.publishNext, "publish the next pin before it is deployed")
            why = "the next \(thing) is not in \(document), and clients would refuse it"
            take(pins)
            action = Self.publishing(state, file, name)
        case .addBackup(let date):
            (self.step, title) = (.addBackup, "publish a backup")
            take(date: date)
            why =
                state.pinsCertificates
                ? "the list has no certificate that follows; clients need it \(span) before the one in use ends"
                : "the servers use every published key: when it is lost, no client gets in"
            action = Self.publishing(state, file, name)
        case .renew(let date):
            (self.step, title) = (.renew, "publish the pins with a later end")
            take(date: date)
            why = "the pins of a server end then, or \(span) later, which clients need to get the next document"
            action = "set a later notAfter in \(document), and publish it"
        case .wait(let date):
            (self.step, title) = (.wait, "wait, and leave the servers as they are")
            date.map { take(date: $0) }
            why =
                date == nil
                ? "clients with an older document would refuse the next \(thing), and nothing says how long they use it"
                : "clients with an older document, which they use for \(span), would refuse the next \(thing)"
            if date == nil { action = "say with --staleness how long older versions of the app are in use" }
        case .deploy(let pins, let date):
            (self.step, title) = (.deploy, "deploy the next \(thing)")
            date.map { take(date: $0) }
            let since = state.everybodyHasIt.map { $0.formatted(.iso8601) } ?? ""
            why = "every client has its pin since \(since)" + (date == nil ? "" : "; the certificate in use ends")
            take(pins)
        case .remove(let pins):
            (self.step, title) = (.remove, "remove the old pin")
            why = "no server shows it, and anyone who has its \(thing) could pass for \(name)"
            take(pins)
            action =
                state.pinsCertificates
                ? "holdfastctl list remove \(file) \(pins.map(Self.digest).joined(separator: " ")) --public-key signer.pub"
                : "take it out of \(document), and publish that"
        case .nothing(let date):
            (self.step, title) = (.nothing, "nothing to do")
            date.map { take(date: $0) }
            why = "the servers show what is published, and a backup is published that they do not use"
        }
    }

    private mutating func take(date: Date) { self.date = date.formatted(.iso8601) }
    private mutating func take(_ pins: [Pin]) { self.pins = pins.map(\.description) }

    private static func publishing(_ state: RolloverState, _ file: String, _ name: String) -> String {
        state.pinsCertificates
            ? "holdfastctl sign next.pem --key signer.pem --list \(file)"
            : "holdfastctl keygen --tls \(name) -o \(name).next.key, and add its pin to \(file)"
    }

    private static func digest(_ pin: Pin) -> String { Hexadecimal.encode(pin.digest) }

    private static func days(_ seconds: TimeInterval) -> String {
        let hours = Int(min(seconds, 1e9) / 3_600)
        switch hours {
        case ..<1: return "less than an hour"
        case 1: return "an hour"
        case ..<48: return "\(hours) hours"
        default: return "\(hours / 24) days"
        }
    }

    func print(to output: Output) {
        let words: [Kind: String] = [.wait: "until", .nothing: "until", .addBackup: "by", .renew: "by", .deploy: "by"]
        let time = date.map { " \(words[step] ?? "at") \($0)" } ?? ""
        let style: Output.Style =
            switch step {
            case .letClientsIn, .unknown: .bad
            case .nothing: .good
            default: .heading
            }
        output.line(.init("\(ServerAddress.text(host, port: port)): "), .init(title + time, style))
        for (name, text) in [("why", why ?? error), ("do", action)] {
            if let text { output.line("  \(name.padded(to: 4))\(SafeText.escapedLine(text))") }
        }
        for pin in pins ?? [] { output.line("  pin \(pin)") }
    }
}

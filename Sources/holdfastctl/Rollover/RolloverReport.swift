import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// The next step for one host. Its fields are those of the JSON object.
struct RolloverReport: Encodable {
    enum Kind: String, Encodable {
        case letClientsIn, publishNext, addBackup, renew, renewCertificate, wait, deploy, remove, nothing
        /// Not every server could be probed; `error` has the reason.
        case unknown
    }

    /// Clients that are locked out for a while, or that keep a change from being finished.
    struct Clients: Encodable, Equatable {
        /// The document that they hold.
        let document: String
        /// The servers that they refuse; absent for all servers.
        var servers: [String]?
        /// ISO 8601; absent if unknown.
        var from: String?
        var until: String?
    }

    let host: String
    let port: Int
    var step = Kind.unknown
    /// When, or by when, in ISO 8601; absent if it is now or unknown.
    var date: String?
    /// Why this is the next step.
    var why: String?
    /// The command to type, or the action to take.
    var action: String?
    /// The pins of the step.
    var pins: [String]?
    /// The servers of the step.
    var servers: [String]?
    /// The clients that are locked out for a while in any case.
    var lost: [Clients]?
    /// The clients that keep the change from being finished without a loss.
    var blocking: [Clients]?
    /// The premises of the advice, one sentence each; absent if nothing is known.
    var premises: [String]?
    /// The reason why the step, or whether all clients can connect, is unknown.
    var error: String?

    private var title = "not known"

    private enum CodingKeys: CodingKey {
        case host, port, step, date, why, action, pins, servers, lost, blocking, premises, error
    }

    /// Makes the report on a host that could not be probed.
    init(host: DialedHost, error: String) {
        self.init(host: host)
        self.error = error
    }

    private init(host: DialedHost) {
        self.host = host.name
        port = host.port ?? ServerAddress.defaultPort
    }

    /// - Parameter documents: the published ones.
    init(_ situation: RolloverSituation, host: DialedHost, documents: [RolloverWords.Document]) {
        self.init(host: host)
        let advice = RolloverAdvice(on: situation)
        let words = RolloverWords(situation, documents: documents, host: host.name)
        describe(advice.step, situation, words)
        let refusals = situation.refusals
        if !refusals.isEmpty {
            step = .letClientsIn
            title = "let clients in, now"
            why = refusals.map(words.refusal).joined(separator: "; ")
            date = nil
        }
        lost = advice.lost.isEmpty ? nil : advice.lost.map(words.clients)
        blocking =
            advice.blocking.isEmpty ? nil : advice.blocking.map { Clients(document: situation.clients[$0].document) }
    }

    /// The reports on a host: one, or one for each kind of key if they differ.
    static func all(
        of inputs: RolloverInputs, host: DialedHost, documents: [RolloverWords.Document]
    ) -> [RolloverReport] {
        do throws(PublishingError) {
            let situations = try RolloverSituation.situations(from: inputs)
            var reports: [RolloverReport] = []
            for situation in situations {
                var report = RolloverReport(situation, host: host, documents: documents)
                report.premises = inputs.premises
                if !reports.contains(where: report.saysTheSame) { reports.append(report) }
            }
            if saysNothingOfBuilds(inputs) {
                let problem = "app versions unknown: \(ShippedPinOptions.remedy)"
                for index in reports.indices { reports[index].error = problem }
            }
            // A step that is due for one kind of key outweighs a report that the other kind needs nothing.
            let due = reports.filter { $0.step != .nothing || $0.losesClients }
            return due.isEmpty ? reports : due
        } catch {
            // Clients that are already locked out are reported, whatever the other servers present.
            var seen = inputs
            seen.servers.removeAll { $0.chain == nil }
            if error.code == .notSeen, !seen.servers.isEmpty, seen.servers.count < inputs.servers.count {
                let reports = all(of: seen, host: host, documents: documents)
                    .filter { $0.step == .letClientsIn }
                if !reports.isEmpty { return reports }
            }
            let problems = inputs.servers.compactMap(\.problem)
            return [
                RolloverReport(
                    host: host, error: problems.isEmpty ? "\(error)" : problems.joined(separator: "; "))
            ]
        }
    }

    /// Whether the pins of builds are unknown. If keys are changed in a shipped pin file, builds carry that file.
    private static func saysNothingOfBuilds(_ inputs: RolloverInputs) -> Bool {
        inputs.appVersions == .unknown && !inputs.documents.contains { $0.kind == .shippedPins }
    }

    private mutating func describe(
        _ step: RolloverAdvice.Step, _ situation: RolloverSituation, _ words: RolloverWords
    ) {
        let thing = words.thing
        switch step {
        case .publish(let identities):
            (self.step, title) = (.publishNext, "publish the next pin before it is deployed")
            why = "clients would refuse a \(thing) whose pin is not in \(words.document)"
            take(situation, identities)
            action = words.adding(identities)
        case .addBackup:
            (self.step, title) = (.addBackup, "publish a backup")
            why = "the servers use every published key: when it is lost, no client gets in"
            action = words.publishing
        case .prepareNext(by: let date):
            (self.step, title) = (.addBackup, "publish the next \(thing)")
            take(date)
            why = words.preparing
            action = words.publishing
        case .renew(let identities, by: let date):
            (self.step, title) = (.renew, "publish the \(words.renewed) with a later end")
            take(date)
            take(situation, identities)
            why = words.ending(isLate: date == nil)
            action = words.renewing
        case .renewCertificates(let identities, by: let date):
            (self.step, title) = (.renewCertificate, "get another certificate for the same key")
            take(date)
            take(situation, identities)
            why = "the certificate in use ends; its key is pinned, so nothing has to be published"
        case .wait(until: let date):
            (self.step, title) = (.wait, "wait, and leave the servers as they are")
            take(date)
            why = words.waiting(until: date)
            if date == nil, situation.staleness == nil {
                action = "say with --staleness how long older versions of the app are in use"
            }
        case .deploy(let identity, servers: let places, before: let date):
            (self.step, title) = (.deploy, "deploy the next \(thing)")
            take(date)
            take(situation, [identity])
            servers = places.map { situation.servers[$0].name }
            why = words.deploying(before: date)
            action = "install \(situation.identities[identity].name) on \((servers ?? []).joined(separator: ", "))"
        case .remove(let identities):
            (self.step, title) = (.remove, "remove the old pin")
            why = "no server shows it, and anyone who has its \(thing) could pass for \(host)"
            take(situation, identities)
            action = words.removing(identities)
        case .nothing(until: let date):
            (self.step, title) = (.nothing, "nothing to do")
            take(date)
            why =
                situation.pinsCertificates
                ? "the servers show what is published"
                : "the servers show what is published, and a backup is published that they do not use"
        }
    }

    private mutating func take(_ date: Date?) { self.date = date?.formatted(.iso8601) }

    private mutating func take(_ situation: RolloverSituation, _ identities: [Int]) {
        pins = identities.map { situation.identities[$0].pinText }
    }

    /// Whether both reports have the same content, so that one is enough.
    func saysTheSame(as other: RolloverReport) -> Bool {
        step == other.step && date == other.date && pins == other.pins && servers == other.servers
            && lost == other.lost && blocking == other.blocking
    }

    /// Whether clients are locked out, now or in any case, or keep the change from being finished.
    private var losesClients: Bool { step == .letClientsIn || lost != nil || blocking != nil }

    /// The exit code of this report alone; nil for 0.
    var status: CommandFailure.Status? {
        losesClients ? .negativeAnswer : error == nil ? nil : .couldNotFindOut
    }

    /// The report as metrics: the host, the exit code, and when the step is due.
    var metrics: PrometheusText.Subject {
        var subject = PrometheusText.Subject(name: ServerAddress.text(host, port: port), status: status)
        if let date = date.flatMap({ try? Date($0, strategy: .iso8601) }) {
            subject.ends.append((step.rawValue, date))
        }
        return subject
    }

    func print(to output: Output) {
        let words: [Kind: String] = [
            .wait: "until", .nothing: "until", .addBackup: "by", .renew: "by", .renewCertificate: "by", .deploy: "by",
        ]
        let time = date.map { " \(words[step] ?? "at") \($0)" } ?? ""
        let style: Output.Style =
            switch step {
            case .letClientsIn, .unknown: .bad
            case .nothing where error == nil: .good
            default: .heading
            }
        output.line(.init("\(ServerAddress.text(host, port: port)): "), .init(title + time, style))
        for (name, text) in [("why", why ?? error), ("do", action), ("but", why == nil ? nil : error)] {
            if let text { output.line("  \(name.padded(to: 4))\(SafeText.escapedLine(text))") }
        }
        for pin in pins ?? [] { output.line("  pin \(pin)") }
        for clients in lost ?? [] {
            let place = clients.servers.map { " at \($0.joined(separator: ", "))" } ?? ""
            let time = (clients.from.map { " from \($0)" } ?? "") + (clients.until.map { " until \($0)" } ?? "")
            output.line(
                .init("  lost "),
                .init(SafeText.escapedLine("clients with \(clients.document)\(place)\(time), whatever is done"), .bad))
        }
        for clients in blocking ?? [] {
            output.line(
                .init("  lost "),
                .init(
                    SafeText.escapedLine("clients with \(clients.document), for ever, if the change is finished"), .bad)
            )
        }
        for premise in premises ?? [] { output.line("  \(SafeText.escapedLine(premise))", .faint) }
    }
}

import Foundation
import Holdfast

/// Sends notices over HTTPS. The signature of each request covers its time, which prevents replays.
struct Webhook: NoticeTarget {
    let name = "webhook"
    /// The address of the receiver.
    let address: WebhookAddress
    let secret: WebhookSecret
    let client: WebhookClient
    let clock: any WallClock

    func deliver(_ notice: Notice) async -> String? {
        let time = Int64(exactly: clock.now.timeIntervalSince1970.rounded(.down)) ?? 0
        let headers = [
            ("Host", address.authority), ("Content-Type", "application/json"),
            ("Content-Length", "\(notice.bytes.count)"), ("Connection", "close"),
            ("User-Agent", "holdfast-server/\(HoldfastRelease.version)"), ("webhook-id", "\(notice.id)"),
            ("webhook-timestamp", "\(time)"),
            ("webhook-signature", secret.signature(id: notice.id, time: time, body: notice.bytes)),
        ]
        switch await client.post(notice.bytes, headers, to: address) {
        case .success(let status): return (200..<300).contains(status) ? nil : "it answered with the status \(status)"
        case .failure(let failure): return failure.words
        }
    }
}

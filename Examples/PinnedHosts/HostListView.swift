import SwiftUI

struct HostListView: View {
    let hosts: HostList

    var body: some View {
        List(hosts.entries) { entry in
            VStack(alignment: .leading, spacing: 4) {
                Label(entry.host, systemImage: entry.symbol)
                if let explanation = entry.explanation {
                    Text(explanation)
                        .font(.caption.monospaced())
                        .foregroundStyle(.secondary)
                        .textSelection(.enabled)
                }
            }
        }
        .refreshable { await hosts.connect() }
        .task { await hosts.connect() }
    }
}

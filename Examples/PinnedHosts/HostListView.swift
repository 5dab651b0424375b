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
        .safeAreaInset(edge: .bottom) {
            if let problem = hosts.problem { Text(problem).foregroundStyle(.red).padding() }
        }
        .refreshable { await hosts.connect() }
        .task { await hosts.connect() }
    }
}

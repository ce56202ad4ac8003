import { addCopies } from '../copies.ts'
import { clockworkRows } from './clockwork-rows.ts'
import { groundOf } from './filling.ts'
import { gateRows } from './gate-rows.ts'
import type { ConsoleInstallation } from './installation.ts'
import { passepartoutRows } from './passepartout-rows.ts'
import { platformRows } from './platform-rows.ts'
import { relayRows } from './relay-rows.ts'

/**
 * Rows behind the pages of the console, in two halves: what is stored with the second is newer than
 * all of the first. What SQLite knows of its tables is then what it knows after a restart.
 */
export function consoleFiller(installation: ConsoleInstallation, rows: number) {
  const { client } = installation.engine.db
  const ground = groundOf(installation, rows)
  const fillings = [gateRows, clockworkRows, passepartoutRows, relayRows, platformRows].flatMap(
    (rowsOf) => rowsOf(ground),
  )
  return function fill(half: 'older' | 'newer') {
    for (const { columns, count, ...of } of fillings) {
      const share = Math.floor(count / 2)
      const i = half === 'older' ? 'i' : `(i + ${share})`
      addCopies(client, { ...of, count: share, columns: columns(i) })
    }
    client.run('PRAGMA optimize')
  }
}

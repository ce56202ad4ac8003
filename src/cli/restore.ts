import { migrations } from '../../drizzle/index.ts'
import type { Config } from '../config/index.ts'
import { forgetTurns } from '../failover/data-directory.ts'
import { type Overdue, type Restored, restoreArchive } from '../platform/backup/index.ts'
import { systemClock } from '../platform/clock.ts'
import { thisProcess } from '../platform/process.ts'
import { VERSION } from '../platform/version.ts'
import { archiveSource, IDENTITY_OPTION } from './archive-source.ts'
import type { Answer, Command } from './command.ts'
import { onInterrupt } from './interrupted.ts'
import { cliActor, noteIfPossible } from './open.ts'
import { createProgress } from './progress.ts'

export const restore: Command = {
  name: 'restore',
  summary: 'Restore a backup. Stop the server first; the current data is kept.',
  positionals: ['FILE'],
  options: IDENTITY_OPTION,
  run: async (invocation) => {
    const { config, io } = invocation
    const progress = createProgress(io, 'Restoring', 'bytes')
    const { dataDir } = config
    const restored = await restoreArchive({
      open: await archiveSource(invocation),
      dataDir,
      migrations,
      clock: systemClock,
      process: thisProcess(VERSION),
      onProgress: progress.step,
      onInterrupt,
    }).finally(progress.end)
    forgetTurns(dataDir)
    await record(config, restored)
    return answer(config, restored)
  },
}

/** Records the restore in the restored audit log. Ignores errors: the next start reports them. */
const record = (config: Config, { manifest }: Restored) =>
  noteIfPossible(config, {
    write: async (db, audit) => {
      const detail = { created_at: manifest.created_at, app_version: manifest.app_version }
      const entry = { tenantId: null, actor: cliActor(), action: 'backup.restored' }
      await db.commit(() => audit.record({ ...entry, object: 'database', detail }))
    },
  })

function answer(config: Config, { manifest, previous, overdue }: Restored): Answer {
  const { dataDir, replication } = config
  const { created_at, app_version, installation } = manifest
  return {
    json: {
      data_dir: dataDir,
      created_at,
      app_version,
      installation,
      previous: previous ?? null,
      overdue,
    },
    text: [
      `Restored ${dataDir} as it was at ${created_at}, backed up by gatehouse ${app_version}.`,
      ...(previous
        ? [`The previous data is in ${previous}. Delete it when everything works.`]
        : []),
      ...due(overdue),
      ...(replication.role === 'auto' ? [IN_PAIR] : []),
    ].join('\n'),
  }
}

const IN_PAIR =
  'The folder in [replication] to has other data, which servers would fetch. Set a new folder on all of ' +
  'them, and start this one first.'

function due({ runs, deliveries, mails }: Overdue): string[] {
  if (runs + deliveries + mails === 0) return ['Nothing is overdue.']
  return [
    `Overdue: clockwork runs: ${runs}, deliveries: ${deliveries}, mails: ${mails}.`,
    'The next `serve` sends them, some for the second time. `serve --paused` holds them while you check the data.',
  ]
}

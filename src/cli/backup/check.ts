import { tmpdir } from 'node:os'
import { migrations } from '../../../drizzle/index.ts'
import { checkArchive, type Manifest } from '../../platform/backup/index.ts'
import { systemClock } from '../../platform/clock.ts'
import { thisProcess } from '../../platform/process.ts'
import { VERSION } from '../../platform/version.ts'
import { archiveSource, IDENTITY_OPTION } from '../archive-source.ts'
import { type Command, table } from '../command.ts'
import { onInterrupt } from '../interrupted.ts'
import { createProgress } from '../progress.ts'

export const backupCheck: Command = {
  name: 'backup check',
  summary: 'Check that a backup is complete and can be restored, without restoring it.',
  positionals: ['FILE'],
  options: IDENTITY_OPTION,
  run: async (invocation) => {
    const progress = createProgress(invocation.io, 'Checking', 'bytes')
    const manifest = await checkArchive({
      open: await archiveSource(invocation),
      migrations,
      clock: systemClock,
      process: thisProcess(VERSION),
      workIn: tmpdir(),
      onProgress: progress.step,
      onInterrupt,
    }).finally(progress.end)
    return checked(manifest)
  },
}

function checked({ created_at, app_version, installation, database, master_key }: Manifest) {
  const json = {
    ok: true,
    created_at,
    app_version,
    installation,
    database_bytes: database.bytes,
    master_key: master_key !== null,
  }
  const text = table([
    ['made', created_at],
    ['by', `gatehouse ${app_version}`],
    ['database', `${database.bytes.toLocaleString('en')} bytes, intact`],
    ['master key', master_key ? `${master_key.id}, matches` : 'not included'],
  ])
  return { json, text }
}

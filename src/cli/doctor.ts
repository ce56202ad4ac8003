import { existsSync } from 'node:fs'
import { databaseExists } from '../db/open.ts'
import { type Command, type Configured, EXIT } from './command.ts'
import { withConsoleSettings } from './console-settings.ts'
import { type Asked, addressOf, ask, judgeAsked } from './doctor/base-url.ts'
import { synchronisation } from './doctor/clock.ts'
import { configuration, environment, exposure, providers } from './doctor/configuration.ts'
import { findUnreachable, isForeign, type Unreachable } from './doctor/directories.ts'
import { space, writing } from './doctor/disk.ts'
import { failover } from './doctor/failover.ts'
import { fileSystem } from './doctor/file-system.ts'
import { adviceOn, examined, type Finding, type Group, problem, warning } from './doctor/finding.ts'
import { checkDatabase, type Inside, withoutDatabase } from './doctor/inside.ts'
import { mailServer } from './doctor/mail-server.ts'
import { objectStorage } from './doctor/object-storage.ts'
import { ownership, permissions } from './doctor/permissions.ts'
import { readiness } from './doctor/readiness.ts'
import { replica } from './doctor/replica.ts'
import { report } from './doctor/report.ts'
import { secretFiles } from './doctor/secret-files.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check this installation for problems and show how to fix them.',
  run: async (invocation) => {
    const groups = await examine(invocation)
    const findings = groups.flatMap((group) => group.findings)
    const failed = findings.some(({ result }) => result === 'problem')
    return {
      json: { ok: !failed, findings },
      text: report(groups),
      exit: failed ? EXIT.failure : EXIT.ok,
    }
  },
}

/** Runs all checks, network and disk concurrently. Changes nothing except a temporary test file. */
async function examine({ config: given, loaded, io }: Configured): Promise<Group[]> {
  const config = await inEffect(given)
  const address = addressOf(config)
  const asked = address === undefined ? undefined : ask(address)
  const mail = examined('mail server', () => mailServer(config))
  const storage = examined('object storage', () => objectStorage(config))
  const copy = examined('replica', () => replica(config))
  const server = readiness(config)
  const timeSync = examined('time sync', () => synchronisation(io.env))
  const unreachable = await findUnreachable(config)
  const isReachable = !unreachable.paths.has(config.dataDir)
  const servers = isReachable ? failover(config) : []
  const disk = isReachable ? await dataDirectory(config, unreachable) : []
  const inside =
    isReachable && existsSync(config.dataDir) && !isForeign(config.dataDir)
      ? await databaseIn(config, unreachable)
      : {}
  return [
    {
      title: 'Configuration',
      findings: [
        ...configuration(loaded),
        environment(io.env),
        exposure(config),
        ...(await examined('secrets', () => secretFiles({ loaded, io }))),
        ...providers(config),
      ],
    },
    { title: 'Disk', findings: [...unreachable.findings, ...disk] },
    { title: 'Database', findings: [...(inside.database ?? []), ...(await copy)] },
    { title: 'Backups', findings: [...(inside.backups ?? []), ...(await storage)] },
    { title: 'Failover', findings: await servers },
    { title: 'Time', findings: [...(inside.clock ?? []), ...(await timeSync)] },
    { title: 'Work', findings: [...(inside.work ?? []), ...(await server)] },
    {
      title: 'Network',
      findings: [...judged(await asked, config, inside), ...(await mail), ...(inside.mails ?? [])],
    },
  ]
}

/** With the settings made in the console. If they can't be read, other checks report why. */
async function inEffect(config: Configured['config']): Promise<Configured['config']> {
  try {
    return (await withConsoleSettings({ config, origin: new Map() })).config
  } catch {
    return config
  }
}

async function dataDirectory(
  config: Configured['config'],
  { paths }: Unreachable,
): Promise<Finding[]> {
  const { dataDir } = config
  if (!existsSync(dataDir))
    return [
      warning(
        'data directory',
        `${dataDir} does not exist. The first start creates it. If your data is elsewhere, ` +
          'use --data-dir, or --config for its configuration',
      ),
    ]
  const found = await Promise.all([
    examined('data directory', () => ownership(config)),
    isForeign(dataDir) ? [] : examined('permissions', () => permissions(config, paths)),
    examined('file system', () => fileSystem(dataDir)),
    examined('disk', () => space(config, paths)),
    examined('writing', () => writing(dataDir)),
  ])
  return found.flat()
}

async function databaseIn(config: Configured['config'], unreachable: Unreachable): Promise<Inside> {
  try {
    if (databaseExists(config.dataDir)) return await checkDatabase(config, unreachable)
    return { database: await withoutDatabase(config) }
  } catch (error) {
    return { database: [problem('database', adviceOn(error))] }
  }
}

const judged = (
  asked: Asked | undefined,
  { server }: Configured['config'],
  { isServerAlive = false, mark }: Inside,
): Finding[] =>
  asked ? judgeAsked(asked, { isServerAlive, isBaseUrl: server.baseUrl !== undefined, mark }) : []

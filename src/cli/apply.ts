import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { callerFor } from '../manifest/caller.ts'
import type { Change } from '../manifest/changes.ts'
import { parseManifest } from '../manifest/file.ts'
import type { Actor } from '../platform/audit/index.ts'
import { AppError, type FieldError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Tenants } from '../platform/tenants.ts'
import { type Application, withApplication } from './application.ts'
import {
  type Answer,
  type Command,
  type Configured,
  type Io,
  STANDARD_STREAM,
  UsageError,
} from './command.ts'
import { environmentIn, MANIFEST_SCOPE, noTenant, TENANT, tenantNamed } from './manifest-scope.ts'
import { linesOf, secretLines, summaryOf } from './present-changes.ts'

export const apply: Command = {
  name: 'apply',
  summary: 'Bring a tenant in line with a manifest: jobs, endpoints, settings, keys.',
  positionals: ['FILE'],
  options: {
    ...MANIFEST_SCOPE,
    prune: { type: 'boolean', help: 'Also delete what the sections of the manifest leave out.' },
    plan: { type: 'boolean', help: 'Only show the changes.' },
    yes: { type: 'boolean', help: 'Apply without asking. Without a terminal, nothing is asked.' },
    'create-tenant': {
      type: 'boolean',
      help: 'Create the tenant if there is none with this name.',
    },
  },
  run: async (invocation) => {
    const { io, args } = invocation
    const name = args[0] ?? ''
    const text =
      name === STANDARD_STREAM ? await io.in() : await Bun.file(resolve(io.cwd, name)).text()
    const { manifest, located } = inFile(name, () => parseManifest(text, io.env))
    return withApplication(invocation.config, io, async (application) => {
      try {
        return await applied(invocation, application, manifest)
      } catch (error) {
        if (!(error instanceof AppError) || error.field === TENANT) throw error
        throw namedIn(name, located(error))
      }
    })
  },
}

const NO_CHANGES: Answer = { json: { applied: false, changes: [] }, text: 'No changes.' }

function inFile<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof AppError ? namedIn(name, error) : error
  }
}

/** An error whose lines begin with file and line, as those of compilers do. */
function namedIn(name: string, error: AppError): AppError {
  const named = ({ at, field, ...one }: FieldError): FieldError => ({
    ...one,
    field: [at ? `${name}:${at.line}` : name, field].filter(Boolean).join(': '),
  })
  const [first, ...rest] = error.fieldErrors
  return new AppError(error.kind, [named(first), ...rest.map(named)], { code: error.code })
}

async function applied(
  { io, options, config }: Configured,
  { gatehouse, platform, actor }: Application,
  manifest: unknown,
): Promise<Answer> {
  const { manifests } = gatehouse
  const isPlan = options.plan === true
  const { tenant, createTenant } = wantedTenant({ options, config }, platform.tenants, actor)
  const caller = callerFor(tenant, { actor, environment: environmentIn(options) })
  const wanted = { prune: options.prune === true, createTenant }
  const planned = [
    ...(createTenant ? [creationOf(tenant)] : []),
    ...(await manifests.plan(caller, manifest, wanted)),
  ]
  if (planned.length === 0) return NO_CHANGES
  const shown = (changes: readonly Change[]) => [
    `Tenant ${tenant.name} (${tenant.id})`,
    '',
    ...linesOf(changes),
    '',
  ]
  if (isPlan)
    return {
      json: { applied: false, changes: planned },
      text: [...shown(planned), `${summaryOf(planned)}. Nothing has changed.`].join('\n'),
    }
  if (io.isInTerminal && io.isOutTerminal && options.yes !== true)
    await confirm(io, [...shown(planned), `${summaryOf(planned)}. Apply? [y/N] `].join('\n'))
  const changes = [
    ...(createTenant ? [creationOf(tenant)] : []),
    ...(await manifests.apply(caller, manifest, wanted)),
  ]
  // Another application may have made them meanwhile.
  if (changes.length === 0) return NO_CHANGES
  return {
    json: { applied: true, changes },
    text: [
      ...shown(changes),
      `Applied: ${summaryOf(changes, true)}.`,
      ...secretLines(changes),
    ].join('\n'),
  }
}

/** The tenant, and how to create it if there is none and the command may. Throws `not_found`. */
function wantedTenant(
  { options, config }: Pick<Configured, 'options' | 'config'>,
  tenants: Tenants,
  actor: Actor,
) {
  // Names are stored trimmed: with a blank, each run would create another tenant.
  const given = `${options.tenant}`.trim()
  const found = tenantNamed(tenants, given)
  if (found) return { tenant: found }
  if (options['create-tenant'] !== true) return noTenant(given)
  const plan = config.metering.defaultPlan
  const id = newId()
  const tenant = { id, name: given, plan, status: 'active', spend_cap_cents: null } as const
  return { tenant, createTenant: () => tenants.create(actor, { name: given, plan, id }) }
}

const creationOf = ({ name, id }: { name: string; id: string }): Change => ({
  action: 'create',
  kind: 'tenant',
  name,
  id,
  fields: [],
})

/** Throws `UsageError` unless the answer is yes. */
async function confirm(io: Io, question: string) {
  io.err(question)
  const lines = createInterface({ input: io.inStream() })
  try {
    for await (const line of lines) {
      if (/^y(es)?$/i.test(line.trim())) return
      break
    }
  } finally {
    lines.close()
  }
  throw new UsageError('apply: nothing has changed')
}

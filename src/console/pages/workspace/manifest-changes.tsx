import { SecretPanel } from '../../../../views/ui/secret-panel.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { Change, FieldChange } from '../../../manifest/changes.ts'

const TONES: Record<Change['action'], Tone> = { create: 'good', update: 'quiet', delete: 'bad' }
const MAX_VALUE = 120

/** The changes of a plan. */
export const ManifestChanges = ({ changes }: { changes: readonly Change[] }) => (
  <DataTable
    caption="Planned changes"
    columns={COLUMNS}
    rows={changes}
    empty={<p class="hint">No changes: the tenant is as the manifest says.</p>}
  />
)

const COLUMNS: readonly Column<Change>[] = [
  {
    label: 'Object',
    cell: ({ kind, name }) => (name === null ? kind : <Text text={`${kind} ${name}`} limit={64} />),
  },
  { label: 'Change', cell: ({ action }) => <StatusBadge tone={TONES[action]} word={action} /> },
  {
    label: 'Fields',
    isWide: true,
    cell: ({ action, fields, name }) => (
      <>
        {fields
          .filter(({ after }) => after !== name)
          .map((change) => (
            <div>
              <FieldText {...change} isNew={action === 'create'} />
            </div>
          ))}
      </>
    ),
  },
]

const FieldText = ({ field, before, after, isNew }: FieldChange & { isNew: boolean }) => (
  <>
    {field} <code>{isNew ? shown(after) : `${shown(before)} → ${shown(after)}`}</code>
  </>
)

function shown(value: unknown): string {
  const text = JSON.stringify(value ?? null)
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

/** What the objects that were just created show only once. */
export const OneTimeSecrets = ({
  created,
  doneHref,
}: {
  created: readonly Change[]
  doneHref: string
}) => (
  <>
    <PageHead title="Configuration applied" />
    <SecretPanel
      title={created.length === 1 ? 'New secret' : 'New secrets'}
      what={created.length === 1 ? 'secret' : 'secrets'}
      secret={created
        .map(({ kind, name, secret, ping_url: pingUrl }) => `${kind} ${name}: ${secret ?? pingUrl}`)
        .join('\n')}
      doneHref={doneHref}
    />
  </>
)

import { Events } from '../../../../views/ui/events.tsx'
import { Button } from '../../../../views/ui/form/button.tsx'
import { rawText } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import type { FormError } from '../../../../views/ui/here.tsx'
import { shorten } from '../../../../views/ui/text.tsx'
import type { Policies } from '../../../engines/gate/settings/model.ts'
import { conflict } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { type PageContext, usePage } from '../../page.tsx'

/** Editor for all policies as one text, with the lines that have errors. */
export function Editor({ policies }: { policies: Policies }) {
  const { submission } = usePage()
  const text = rawText(submission?.values, 'policies') ?? policies.policies
  return (
    <PageForm
      action=""
      hidden={{ version: String(policies.version) }}
      buttons={<Button weight="primary">Save policies</Button>}
    >
      <WrongLines errors={submission?.errors ?? []} lines={text.split('\n')} />
      <Textarea
        name="policies"
        label="Cedar policies"
        isMono
        rows={Math.min(28, Math.max(12, text.split('\n').length + 1))}
        value={text}
        help="At most 32 KB in total. Nothing is allowed unless a policy permits it. A forbid policy overrides permit policies."
      />
    </PageForm>
  )
}

/** Lines with errors, because text fields show no line numbers. */
function WrongLines({ errors, lines }: { errors: readonly FormError[]; lines: readonly string[] }) {
  const positions = errors.flatMap(({ at }) => at ?? [])
  return positions.length === 0 ? null : (
    <Events
      label="Lines with errors"
      events={positions.map(({ line, column }) => ({
        tone: 'bad',
        title: `Line ${line}, column ${column}`,
        text: <code>{shorten(lines[line - 1] ?? '')}</code>,
      }))}
    />
  )
}

/** Saves the policies of the editor. Throws `invalid` with every error and its position. */
export async function savePolicies({ gate, fields, ...context }: PageContext): Promise<void> {
  const caller = context.caller('gate', 'live')
  if (trimmedText(fields, 'version') !== String(gate.policies.get(caller).version))
    throw conflict(OVERTAKEN, { field: 'policies', rule: 'changed' })
  const text = (rawText(fields, 'policies') ?? '').replaceAll('\r\n', '\n')
  await gate.policies.put(caller, text)
}

const OVERTAKEN =
  'someone else changed the policies after you opened this form. Save again to overwrite their changes'

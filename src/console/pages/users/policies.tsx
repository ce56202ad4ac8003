import { CodeBlock } from '../../../../views/ui/code.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { DiffBlock } from '../../../../views/ui/diff.tsx'
import { Events } from '../../../../views/ui/events.tsx'
import { Button } from '../../../../views/ui/form/button.tsx'
import { CodeEditor, linesIdOf } from '../../../../views/ui/form/code-editor.tsx'
import { FieldError, rawText } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { type DiffLine, diffOf } from '../../../../views/ui/line-diff.ts'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { STARTER_SET } from '../../../engines/gate/authorization/policy/starter.ts'
import type { Policies } from '../../../engines/gate/settings/model.ts'
import type { Fields } from '../../../http/body.ts'
import type { Actor, LoggedEntry } from '../../../platform/audit/index.ts'
import { conflict } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { PolicyTabs } from './decisions.tsx'
import { type Evaluation, evaluationOf, Trial } from './policy-trial.tsx'

/** Number of changes in the history. */
const SAVED = 5

interface PoliciesView {
  policies: Policies
  /** Unsaved changes of the editor. */
  changes: DiffLine[] | undefined
  evaluation: Evaluation
  /** Latest changes. */
  saved: readonly Pick<LoggedEntry, 'at' | 'actor'>[]
  /** Names of operators by ID. */
  names: ReadonlyMap<string, string>
}

/** Policies of a tenant: editor, trial and history. */
export const policiesPage = page({
  path: '/policies',
  section: 'policies',
  right: 'read',
  title: 'Policies',

  async load(context): Promise<PoliciesView> {
    const { gate, audit, operators, tenantId, caller } = context
    const policies = gate.policies.get(caller('gate', 'live'))
    const members = operators.memberships.list(tenantId)
    return {
      policies,
      changes: changesIn(context, policies),
      evaluation: await evaluationOf(context),
      // Skipped for tenants that never changed the policies, because the log is long.
      saved:
        policies.version > 0
          ? audit.list({ tenantId, action: 'policies.changed', limit: SAVED }).entries
          : [],
      names: new Map(members.map(({ id, email }) => [id, email])),
    }
  },

  status: ({ evaluation }) => (evaluation.errors ? 422 : 200),

  view({ policies, changes, evaluation, saved, names }) {
    const { may } = usePage()
    return (
      <>
        <PageHead title="Policies" state={{ sentence: <InForce policies={policies} /> }} />
        <PolicyTabs current="policies" />
        {may('change') ? (
          <Editor policies={policies} changes={changes} />
        ) : (
          <CodeBlock title="Cedar">{policies.policies}</CodeBlock>
        )}
        <Trial evaluation={evaluation} />
        <History saved={saved} names={names} />
        {!policies.is_starter_set && (
          <Section id="starter" title="Starter set">
            <details class="fold">
              <summary>View the policies of a new tenant</summary>
              <CodeBlock title="Cedar">{STARTER_SET}</CodeBlock>
            </details>
          </Section>
        )}
        {may('change') && !policies.is_starter_set && <WayBack />}
      </>
    )
  },

  actions: {
    '': {
      right: 'change',
      form: { policies: 'policies' },
      flash: good('Policies saved. They apply to the next request.'),
      run: savePolicies,
    },
    starter: {
      right: 'change',
      flash: good('Starter set restored.'),
      async run({ gate, caller }) {
        await gate.policies.put(caller('gate', 'live'), null)
      },
    },
  },
})

const InForce = ({ policies }: { policies: Policies }) => {
  const { is_starter_set: isStarterSet, version, updated_at: at } = policies
  return (
    <>
      {isStarterSet ? 'The starter set is active' : `Version ${version} is active`}
      {at === null ? (
        ''
      ) : (
        <>
          , saved <Time at={Date.parse(at)} />
        </>
      )}
    </>
  )
}

const WayBack = () => (
  <DangerZone
    items={[
      {
        text: 'Replaces the policies above, which are not kept.',
        id: 'starter-set',
        verb: 'Restore starter set',
        question: 'Restore the starter set?',
        consequence: 'Your policies are deleted. Copy them first if you might need them again.',
        action: usePage().actionHref('starter'),
      },
    ]}
  />
)

/** Latest changes of the policies. */
const History = ({ saved, names }: Pick<PoliciesView, 'saved' | 'names'>) =>
  saved.length === 0 ? null : (
    <Section
      id="saved"
      title="Change history"
      note={
        <>
          Latest changes. All changes are in the{' '}
          <a href={usePage().href('/audit', { action: 'policies.changed' })}>audit log</a>.
        </>
      }
    >
      <Events
        label="Change history"
        events={saved.map(({ at, actor }) => ({
          tone: 'quiet',
          title: (
            <>
              Saved by <Text text={nameOf(actor, names)} limit={64} />
            </>
          ),
          text: actor.source && <Text text={actor.source} limit={64} />,
          aside: <Time at={at} />,
        }))}
      />
    </Section>
  )

function nameOf({ kind, id }: Actor, names: ReadonlyMap<string, string>): string {
  if (kind === 'operator') return names.get(id ?? '') ?? 'a former operator'
  return kind === 'key' ? 'an API key' : 'the command line'
}

/** Editor for all policies as one text. */
function Editor({ policies, changes }: Pick<PoliciesView, 'policies' | 'changes'>) {
  const { submission } = usePage()
  return (
    <PageForm
      action=""
      hidden={{ version: String(policies.version) }}
      buttons={
        <>
          <Button weight="primary">Save policies</Button>
          <button type="submit" class="button unscripted" name="intent" value="review">
            Review changes
          </button>
        </>
      }
    >
      <CodeEditor
        name="policies"
        label="Cedar policies"
        value={policies.policies}
        errors={submission?.errors ?? []}
        help="At most 32 KB in total. Nothing is allowed unless a policy permits it. A forbid policy overrides permit policies."
      />
      <Review changes={changes} />
    </PageForm>
  )
}

/** What saving would change: with scripts while you type, without on a button. */
function Review({ changes }: Pick<PoliciesView, 'changes'>) {
  const { actionHref, submission } = usePage()
  const error = isReview(submission?.values) ? submission?.errors[0]?.message : undefined
  return (
    <div
      id="review"
      aria-live="polite"
      hx-post={actionHref('')}
      hx-select="#review > *"
      hx-select-oob={`#${linesIdOf('policies')}`}
      hx-swap="innerHTML"
      hx-trigger="input delay:500ms from:#field-policies"
      hx-include="closest form"
      hx-vals='{"intent":"review"}'
    >
      {error !== undefined && <FieldError name="review" error={error} />}
      {changes?.length === 0 && <p class="hint">No changes</p>}
      {changes !== undefined && changes.length > 0 && (
        <DiffBlock title="Unsaved changes" lines={changes} />
      )}
    </div>
  )
}

const isReview = (fields: Fields = {}): boolean => trimmedText(fields, 'intent') === 'review'

const policiesIn = (fields: Fields): string =>
  (rawText(fields, 'policies') ?? '').replaceAll('\r\n', '\n')

/** The changes of a form that was sent and not saved. */
function changesIn({ submission }: PageContext, { policies }: Policies): DiffLine[] | undefined {
  if (submission === undefined || submission.action !== '') return undefined
  const typed = policiesIn(submission.values)
  return typed === policies ? [] : diffOf(policies, typed)
}

/** Saves the policies of the editor, or only checks them. Throws `invalid` with every error and its position. */
async function savePolicies({ gate, fields, ...context }: PageContext) {
  const caller = context.caller('gate', 'live')
  const text = policiesIn(fields)
  if (trimmedText(fields, 'version') !== String(gate.policies.get(caller).version))
    throw conflict(OVERTAKEN, { field: 'policies', rule: 'changed' })
  if (isReview(fields)) {
    gate.policies.check(text)
    return { again: true } as const
  }
  await gate.policies.put(caller, text)
  return undefined
}

const OVERTAKEN =
  'someone else changed the policies after you opened this form. Save again to overwrite their changes'

import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { checkedValues, FieldError } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Icon } from '../../../../views/ui/icons.tsx'
import { invalid } from '../../../platform/errors.ts'
import type { Checklist } from '../../checklist/index.ts'
import { good, page, usePage } from '../../page.tsx'
import { EntryLayout } from '../entry/account-fields.tsx'
import { GOAL_WORDS, GOALS, guideOf } from './goal-words.ts'
import { SET_UP_STEPS } from './welcome.tsx'

/** Asks what a tenant wants to do first. Its answer decides which guides and checklist items follow. */
export const goalsPage = page({
  path: '/get-started',
  isPlain: true,
  right: 'read',
  title: 'Get started',

  load: ({ checklists, tenantId }) => ({ checklist: checklists.of(tenantId) }),

  view({ checklist }) {
    const { may } = usePage()
    return (
      <EntryLayout
        windowTitle="Get started"
        title="What do you want to do first?"
        intro={
          may('change')
            ? 'Choose one or more. Each leads to a working result in under two minutes.'
            : 'Each guide explains one part, with its first result.'
        }
        {...(!checklist && may('change') && { steps: { at: 1, names: SET_UP_STEPS } })}
        isWide
      >
        {may('change') ? <Choice checklist={checklist} /> : <Guides />}
      </EntryLayout>
    )
  },

  actions: {
    '': {
      right: 'change',
      form: { goals: 'goals' },
      async run({ checklists, tenantId, fields }) {
        const chosen = checkedValues(fields, 'goals')
        const goals = GOALS.filter((goal) => chosen.includes(goal))
        const [first] = goals
        if (!first)
          throw invalid(
            'must have at least one choice. To decide later, select Look around first',
            { field: 'goals', rule: 'required' },
          )
        await checklists.choose(tenantId, goals)
        return { to: guideOf(first) }
      },
    },
    skip: {
      right: 'change',
      async run({ checklists, tenantId }) {
        await checklists.choose(tenantId, checklists.of(tenantId)?.goals ?? [])
        return { to: '' }
      },
    },
    dismiss: {
      right: 'change',
      flash: good('Checklist dismissed. To show it again, open Settings.'),
      async run({ checklists, tenantId }) {
        await checklists.setDismissed(tenantId, true)
        return { to: '' }
      },
    },
    show: {
      right: 'change',
      async run({ checklists, tenantId }) {
        await checklists.setDismissed(tenantId, false)
        return { to: '' }
      },
    },
  },
})

function Choice({ checklist }: { checklist: Checklist | undefined }) {
  const { submission, actionHref } = usePage()
  const error = submission?.errors.find(({ name }) => name === 'goals')?.message
  return (
    <PageForm
      action=""
      buttons={
        <>
          <Button weight="primary">Continue</Button>
          <Button weight="bare" action={actionHref('skip')}>
            Look around first
          </Button>
        </>
      }
    >
      <fieldset class={error === undefined ? 'field' : 'field wrong'} id="field-goals">
        <legend class="unseen">Goals</legend>
        <div class="goals">
          {GOALS.map((goal) => (
            <label>
              <Icon name={GOAL_WORDS[goal].icon} />
              <strong>{GOAL_WORDS[goal].title}</strong>
              <input
                type="checkbox"
                name="goals[]"
                value={goal}
                checked={checklist?.goals.includes(goal)}
              />
              <span class="hint">{GOAL_WORDS[goal].text}</span>
            </label>
          ))}
        </div>
        <FieldError name="goals" error={error} />
      </fieldset>
    </PageForm>
  )
}

/** Links to the guides, for operators who can't choose. */
function Guides() {
  const { href } = usePage()
  return (
    <>
      <div class="goals">
        {GOALS.map((goal) => (
          <a href={href(guideOf(goal))}>
            <Icon name={GOAL_WORDS[goal].icon} />
            <strong>{GOAL_WORDS[goal].title}</strong>
            <Icon name="right" />
            <span class="hint">{GOAL_WORDS[goal].text}</span>
          </a>
        ))}
      </div>
      <div class="actions">
        <LinkButton href={href('')}>Go to the overview</LinkButton>
      </div>
    </>
  )
}

import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Form } from '../../../../views/ui/form/form.tsx'
import { page, usePage } from '../../page.tsx'
import { SetUpStep } from './welcome.tsx'

/** Set-up step that creates the first API key, which the page of the first job shows. */
export const firstKeyPage = page({
  path: '/first-key',
  isPlain: true,
  right: 'keys',
  title: 'Create an API key',
  load: () => ({}),

  view() {
    const { href } = usePage()
    return (
      <SetUpStep
        at={1}
        title="Create an API key"
        intro="Your apps authenticate with API keys. This one is for jobs: scheduled HTTP requests."
      >
        <Form
          action={href('/first-job')}
          buttons={
            <>
              <Button weight="primary">Create API key</Button>
              <LinkButton href={href('')}>Skip for now</LinkButton>
            </>
          }
        >
          <p class="hint">
            The next page shows the key once, with a command that you can run right away.
          </p>
        </Form>
      </SetUpStep>
    )
  },
})

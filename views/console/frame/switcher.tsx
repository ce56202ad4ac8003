import { Icon } from '../icons.tsx'
import { ScopedForm } from '../scope.tsx'
import { Text } from '../text.tsx'
import { url } from '../url.ts'
import { PlaceEmblem } from './emblem.tsx'
import type { FrameProps, Place } from './model.ts'
import { FRAME_PATHS } from './navigation.ts'

type Parts = Pick<FrameProps, 'base' | 'place' | 'places' | 'here'>

/** Where one acts, and the way to act elsewhere: a form a place, since it changes the session. */
export const Switcher = ({ base, place, places }: Parts) => (
  <details class="menu switcher">
    <summary>
      <PlaceEmblem place={place} />
      <span class="unseen">Acting in </span>
      <span class="placename">
        <Text text={place.name} limit={48} />
      </span>
      <Icon name="updown" />
    </summary>
    <div class="popup">
      <ScopedForm action={url(base, FRAME_PATHS.place)}>
        {places.map((other) => (
          <Choice place={other} isCurrent={other.id === place.id} />
        ))}
      </ScopedForm>
    </div>
  </details>
)

const Choice = ({ place, isCurrent }: { place: Place; isCurrent: boolean }) => (
  <button
    type="submit"
    name="place"
    value={place.id}
    class="item"
    aria-current={isCurrent ? 'true' : undefined}
  >
    <PlaceEmblem place={place} />
    <Text text={place.name} limit={48} />
    {isCurrent && <Icon name="check" />}
  </button>
)

/** Live or test data; a form too, since it is remembered. */
export const EnvironmentSwitch = ({
  base,
  environment,
  here,
}: Pick<FrameProps, 'base' | 'environment' | 'here'>) =>
  environment === undefined ? null : (
    <ScopedForm class="environment" action={url(base, FRAME_PATHS.environment)}>
      <input type="hidden" name="return_to" value={here} />
      <fieldset>
        <legend class="unseen">Data shown</legend>
        {(['live', 'test'] as const).map((kind) => (
          <button type="submit" name="environment" value={kind} aria-pressed={kind === environment}>
            {kind === 'live' ? 'Live' : 'Test'}
          </button>
        ))}
      </fieldset>
    </ScopedForm>
  )

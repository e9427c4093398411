from pipelines.store.versions import dated


def test_dates_of_a_version_are_parsed_and_missing_ones_stay_missing() -> None:
    row = dated({"name": "a", "published_at": "2024-05-01T00:00:00.5+00:00", "modified_at": None})
    assert (row["published_at"].isoformat(), row["modified_at"]) == ("2024-05-01T00:00:00.500000+00:00", None)

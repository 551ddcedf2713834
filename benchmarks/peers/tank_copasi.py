"""The tank example in COPASI, through basico: steady-state experiment, Levenberg-Marquardt, weights 1. Usage: tank_copasi.py data.csv"""

import json
import os
import sys
import tempfile
import time

began = time.perf_counter()

import basico
import COPASI
import pandas as pd
from basico.task_parameterestimation import get_experiment

imported = time.perf_counter()
data = pd.read_csv(sys.argv[1])
os.chdir(tempfile.mkdtemp())  # basico writes the table of an experiment into the current folder
basico.new_model(name="tank", quantity_unit="mol", volume_unit="m³", time_unit="min")
basico.add_compartment("tank", initial_size=1.0)
for species in "ABCD":
    basico.add_species(species, compartment_name="tank", initial_concentration=1000.0)
for name, value in {"sv": 1.0, "caf": 10000.0, "k1": 0.1, "k2": 10.0, "k3": 1e-5}.items():
    basico.add_parameter(name, initial_value=value)
basico.add_parameter("inflow", type="assignment", expression="Values[sv]*Values[caf]")
basico.add_reaction("feed", "-> A", function="Constant flux (irreversible)")
basico.set_reaction_parameters("(feed).v", mapped_to="inflow")
flows = {"outA": ("A ->", "sv"), "outB": ("B ->", "sv"), "outC": ("C ->", "sv"), "outD": ("D ->", "sv")}
for name, (equation, constant) in (flows | {"r1": ("A -> B", "k1"), "r2": ("B -> C", "k2"), "r3": ("2 A -> D", "k3")}).items():
    basico.add_reaction(name, equation)
    basico.set_reaction_parameters(f"({name}).k1", mapped_to=constant)
columns = ["Values[sv].InitialValue", "Values[caf].InitialValue", "[A]", "[B]", "[C]", "[D]"]
basico.add_experiment("states", data.set_axis(columns, axis=1))
objects = get_experiment("states").getObjectMap()
for i in range(objects.size()):  # COPASI's own weights are 1/mean square of a column
    if objects.getRole(i) == COPASI.CExperiment.dependent:
        objects.setScale(i, 1.0)
starts = {"k1": 0.1, "k2": 10.0, "k3": 1e-5}
basico.set_fit_parameters([{"name": f"Values[{n}]", "lower": v / 1e3, "upper": v * 1e3, "start": v} for n, v in starts.items()])
built = time.perf_counter()
found = basico.run_parameter_estimation(method="Levenberg - Marquardt", update_model=False, randomize_start_values=False)
k = [float(found.loc[f"Values[{name}]", "sol"]) for name in starts]
print(found.to_string())
ended = time.perf_counter()
print(json.dumps({"k": k, "split": {"import": imported - began, "build": built - imported, "run": ended - built}}))
